import { agentCommand } from "../cli/commands/agent.ts";
import { launch } from "./launch.ts";
import { runCommandLine } from "./main.ts";

/** `signalbox agent`. It serves `run` and front ends, so its bundle contains them too. */
launch((argv, io) =>
  runCommandLine({ ...agentCommand, load: () => import("../agent/agent.impl.ts") }, argv.slice(1), io),
);
