import type { Command } from "../../commands/spec.ts";
import { declaration } from "./declaration.ts";

export const switchman: Command = { ...declaration, load: () => import("./switchman.impl.ts") };
