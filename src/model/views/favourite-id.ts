import type { Subject } from "./view.ts";

/** The kinds of objects that can be favourites: those that stay. */
export const FAVOURITE_KINDS = ["lock", "resource", "host", "group", "schedule"] as const;
export type FavouriteKind = (typeof FAVOURITE_KINDS)[number];

/** Returns the object of a row that can be a favourite. For a waiting run it is the queue that it waits in. */
export function findFavouriteSubject(subject: Subject): { kind: FavouriteKind; name: string } | undefined {
  switch (subject.kind) {
    case "run":
      return subject.queue;
    case "record":
      return subject.about && findFavouriteSubject(subject.about);
    case "drain": {
      const kind = FAVOURITE_KINDS.find((one) => one === subject.scope);
      return kind && { kind, name: subject.name };
    }
    default:
      return { kind: subject.kind, name: subject.name };
  }
}

/** Returns the id that a favourite is stored by: `lock invoices`. */
export function getFavouriteId(subject: Subject): string | undefined {
  const found = findFavouriteSubject(subject);
  return found && `${found.kind} ${found.name}`;
}
