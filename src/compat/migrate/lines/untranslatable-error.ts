/** Thrown for a line that stays as it is. The message is for the owner of the line. */
export class UntranslatableError extends Error {}
