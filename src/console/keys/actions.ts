import type { Command } from "../../commands/spec.ts";
export interface Action { id: string; brief: string; keys: string[]; context: "global" | "list" }
const t = `palette : f1 ctrl+p|filter /|help ?|quit q|nextPane tab|previousPane shift+tab|nextTab ]|previousTab [|pane1 1|pane2 2|pane3 3|pane4 4|pane5 5|explorer b|panel J|zoom z|reread R|back escape|up up k|down down j|top g home|bottom G end|pageUp pageup|pageDown pagedown|left left h|right right l|open enter|mark space|range v|sort s|reverse S|copy y|copyJson Y|copyCommand c|why w|edit e|create n|delete delete|drain D|undrain U|reset X|release K|theme T|jobs o`;
export function actionsOf(_commands: readonly Command[]): Action[] {
  return t.split("|").map((x) => { const [id = "", ...keys] = x.split(" "); return { id, brief: id, keys, context: "list" as const }; });
}
