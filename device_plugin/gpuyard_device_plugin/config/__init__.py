"""What a node is to offer, as its owner wrote it: read, checked, and refused with the field's name."""
