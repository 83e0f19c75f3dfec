import { actionsOf } from "./actions.ts";
export interface Keymap { lookup(chord: string, context: "global" | "list"): string | undefined; keysOf(id: string): string[] }
export function keymapOf(actions: ReturnType<typeof actionsOf>, _overrides: Record<string, string | string[]>): { keymap: Keymap; findings: string[] } {
  const by = new Map<string, string>();
  for (const a of actions) for (const k of a.keys) by.set(k, a.id);
  return { keymap: { lookup: (c) => by.get(c), keysOf: (id) => [...(actions.find((a) => a.id === id)?.keys ?? [])] }, findings: [] };
}
