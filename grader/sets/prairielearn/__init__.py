"""A problem set as a course of PrairieLearn, the platform of https://prairielearn.com."""
