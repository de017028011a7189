"""Exchange operations with other machines and people; read and write other tools' formats."""
