"""Bodies and headers: decoding, encoding, negotiation, options.

Stands for apimachinery's serializers and the request handlers' negotiation.
"""
