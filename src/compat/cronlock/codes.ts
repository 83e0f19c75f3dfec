/** Exit codes of both tools; below them, a command's own. */
export const CODES = { refused: 200, failure: 201, timeout: 202 } as const;
