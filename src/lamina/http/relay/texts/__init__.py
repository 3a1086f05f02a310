"""The texts of the Relay help, as YAML."""
