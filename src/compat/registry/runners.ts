import type { Command } from "../../commands/spec.ts";
import { cronlock, golock } from "../cronlock/cronlock.ts";
import { switchmanDeclaration } from "../switchman/declaration.ts";
import { zooLocked } from "../zoo-locked/zoo-locked.ts";

const switchman: Command = {
  ...switchmanDeclaration,
  load: () => import("../switchman/switchman.impl.ts"),
};

/** Front ends that hold a lock while a command runs. Their bundle holds nothing of the other front ends. */
export const RUNNERS: readonly Command[] = [cronlock, golock, switchman, zooLocked];
