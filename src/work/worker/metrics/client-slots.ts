import type { Server } from "node:http";
import { isIPv6, type Socket } from "node:net";

/** Largest number of connections in all, and from one address. */
const MOST_CLIENTS = 50;
const MOST_OF_ADDRESS = 16;

/**
 * Limits the connections of a server, so that no address can take the places of all others. Further connections are closed
 * at once.
 */
export function limitClients(server: Server): void {
  const counts = new Map<string, number>();
  server.maxConnections = MOST_CLIENTS;
  server.on("connection", (socket: Socket) => {
    const network = getNetwork(socket.remoteAddress ?? "");
    const count = (counts.get(network) ?? 0) + 1;
    if (count > MOST_OF_ADDRESS) return void socket.destroy();
    counts.set(network, count);
    socket.once("close", () => {
      const left = (counts.get(network) ?? 1) - 1;
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    });
  });
}

/** Returns the /64 network of an IPv6 address, because one host can usually use all addresses in it. Other addresses stay as they are. */
function getNetwork(address: string): string {
  if (!isIPv6(address) || address.includes(".")) return address; // ::ffff:10.0.0.1 is an IPv4 address
  const [head = "", tail] = address.split("%", 1)[0]?.split("::") ?? [];
  const left = head.split(":").filter((group) => group !== "");
  const right = tail?.split(":") ?? [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  return [...left, ...Array<string>(zeros).fill("0"), ...right].slice(0, 4).join(":");
}
