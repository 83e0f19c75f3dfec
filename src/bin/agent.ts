import { agentCommand } from "../cli/commands/agent.ts";
import { launch } from "./launch.ts";
import { runCommandLine } from "./main.ts";

/** `signalbox agent`. It serves `run` and front ends, so its bundle contains them too. */
const load = async () => {
  const { createAgentCommand } = await import("../agent/agent.impl.ts");
  const { AGENT_SERVICES } = await import("./agent-services.ts");
  return createAgentCommand(AGENT_SERVICES);
};

launch((argv, io) => runCommandLine({ ...agentCommand, load }, argv.slice(1), io));
