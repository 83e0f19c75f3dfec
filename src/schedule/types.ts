import { type Definition, typeOf } from "./definition.ts";

/** Among a worker's types: it runs schedules that have a command of their own. */
export const COMMANDS = "$command";

const PATTERN = /^\/(.*)\/$/s;

/** What a type among handlers matches: itself, or what a `/regular expression/` finds. @throws SyntaxError */
export function typeMatcher(type: string): (type: string) => boolean {
  const pattern = PATTERN.exec(type)?.[1];
  if (pattern === undefined) return (one) => one === type;
  const expression = new RegExp(pattern);
  return (one) => expression.test(one);
}

/** Whether a worker that says it has handlers for these types can run a schedule. What cannot be read matches nothing. */
export function handles(types: readonly string[], id: string, definition: Definition): boolean {
  if (definition.command !== undefined) return types.includes(COMMANDS);
  const wanted = typeOf(id, definition);
  return types.some((type) => {
    try {
      return typeMatcher(type)(wanted);
    } catch {
      return false;
    }
  });
}
