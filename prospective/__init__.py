"""A folder of scripts; this file lets unittest find its tests from the folder above."""
