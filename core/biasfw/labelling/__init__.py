"""Labels by people: a random part of a run is drawn, labelled on a sheet, read back, and judges are corrected by it."""
