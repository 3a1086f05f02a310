"""The HTTP door: tables from verb and path to operations. It speaks the protocol and holds no rule."""
