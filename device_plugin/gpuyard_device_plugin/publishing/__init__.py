"""What is written on the Node: the inventory, and the labels of GPU feature discovery; and how it is taken away."""
