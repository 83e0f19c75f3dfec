import type { ToolContext } from "../../src/compat/front-end.ts";

/** What a tool gets besides its words. */
export function createToolContext(variables: object = {}, files: object = {}, program = "tool"): ToolContext {
  return {
    variables: new Map(Object.entries(variables)),
    files: new Map(Object.entries(files)),
    program,
  };
}
