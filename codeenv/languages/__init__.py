"""What differs per language, behind one Protocol."""
