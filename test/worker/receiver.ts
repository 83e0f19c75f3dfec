/** A receiver of notifications, as in systemd. */

import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { waitUntil } from "../../fixtures/wait-until.ts";

/** Reads datagrams as systemd does; prints each between brackets. */
const RECEIVER = `
  use Socket; $| = 1; (my $path = $ARGV[0]) =~ s/^@/\\0/;
  socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die; bind($s, pack_sockaddr_un($path)) or die $!;
  print "ready\\n"; while (defined recv($s, my $word, 65536, 0)) { print "[$word]\\n"; }`;

/** Listens until the test ends. @param address  a path, or `@` and an abstract one */
export async function startReceiver(address: string): Promise<{ words(): string[] }> {
  const child = spawn("perl", ["-e", RECEIVER, address], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  await waitUntil("the receiver listens", () => text.startsWith("ready\n"));
  return { words: () => [...text.matchAll(/\[([^\]]*)\]/g)].map(([, word = ""]) => word) };
}
