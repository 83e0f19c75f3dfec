import { type Definition, getScheduleType } from "./definition.ts";

/** Type in a worker record: the worker runs schedules that have their own command. */
export const COMMAND_TYPE = "$command";

const TYPE_PATTERN = /^\/(.*)\/$/s;

/**
 * Creates a matcher for a handler type: an exact name, or a `/regular expression/`.
 * @throws SyntaxError
 */
export function createTypeMatcher(type: string): (type: string) => boolean {
  const pattern = TYPE_PATTERN.exec(type)?.[1];
  if (pattern === undefined) return (one) => one === type;
  const expression = new RegExp(pattern);
  return (one) => expression.test(one);
}

/** Returns whether a worker with handlers for these types can run a schedule. An invalid expression matches nothing. */
export function canHandle(types: readonly string[], id: string, definition: Definition): boolean {
  if (definition.command !== undefined) return types.includes(COMMAND_TYPE);
  const wanted = getScheduleType(id, definition);
  return types.some((type) => {
    try {
      return createTypeMatcher(type)(wanted);
    } catch {
      return false;
    }
  });
}
