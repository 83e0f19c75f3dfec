/** The listings that are compared. */
export const COMPARED_LISTINGS = [
  "locks",
  "resources",
  "queues",
  "hosts",
  "groups",
  "drains",
  "schedules",
] as const;
export type ComparedListing = (typeof COMPARED_LISTINGS)[number];
