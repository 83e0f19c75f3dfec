/** Exit codes of both tools. Other codes are those of the command. */
export const CODES = { refused: 200, failure: 201, timeout: 202 } as const;
