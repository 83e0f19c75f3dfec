import type { Command } from "../../cli/frame/command.ts";
import { cronlock, golock } from "../cronlock/cronlock.ts";
import { switchman } from "../switchman/switchman.ts";
import { zooLocked } from "../zoo-locked/zoo-locked.ts";

/** Front ends that hold a lock while a command runs. Their bundle holds nothing of the other front ends. */
export const RUNNERS: readonly Command[] = [cronlock, golock, switchman, zooLocked];
