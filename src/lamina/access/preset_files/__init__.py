"""The presets that Lamina comes with, one YAML file each."""
