/** What a command leaves running, as far as its words show it. */
import { expect, it } from "vitest";
import {
  describeEndedProcess,
  findBackgroundInText,
  findBackgroundProcess,
} from "../../../src/cli/syntax/background-process.ts";

it.each([
  ["nohup ./server &", "nohup ./server &"],
  ["nohup ./server > /var/log/server.log 2>&1 &", "nohup ./server &"],
  ["setsid ./server", "what setsid starts"],
  ["setsid ./server &", "setsid ./server &"],
  ["[ -s pid ] || { ./server & echo $! > pid; }", "./server &"],
  ["pgrep server || ./server &", "./server &"],
  ["cd /srv && (./server) &", "./server … &"],
  ["(sleep 30; ./check) > /dev/null 2>&1 &", "./check … &"],
  ["{ ./a; ./b; } &", "./b … &"],
  ["if [ -f x ]; then ./a; fi &", "./a … &"],
  ["for i in 1 2 3; do ./work $i & done", "./work $i &"],
  ["./server & disown", "./server &"],
  ["bash -lc './server &'", "./server &"],
  ["su - app -c 'nohup ./server &'", "nohup ./server &"],
  ["sudo -u app sh -c './server &'", "./server &"],
  ["screen -dmS irc weechat", "what screen starts"],
  ["tmux new-session -d -s work ./server", "what tmux starts"],
  ["daemon -n web ./server", "what daemon starts"],
  ["start-stop-daemon --start --exec /usr/sbin/server", "what start-stop-daemon starts"],
  ["pm2 resurrect", "what pm2 starts"],
  ["ssh -fN -L 5432:db:5432 jump", "what ssh starts"],
  ["podman run -d web", "what podman starts"],
])("%s leaves a process, which a worker ends", (text, what) => {
  const left = findBackgroundInText(text);
  expect(left).toMatchObject({ what, isOutside: false });
  expect(describeEndedProcess(left)).toContain(`in the background (${what}), which the worker ends`);
});

it.each(["echo ./x | at now", "systemd-run --user ./server", "docker run -d web", "docker compose up -d"])(
  "%s asks another program, whose processes a worker does not end",
  (text) => {
    expect(findBackgroundInText(text)).toMatchObject({ isOutside: true });
    expect(describeEndedProcess(findBackgroundInText(text))).toBeUndefined();
  },
);

it.each([
  "./a & ./b & wait",
  "for i in 1 2; do ./work $i & done; wait",
  "( ./a & ./b; wait )",
  "setsid -w ./server",
  "./job > /dev/null 2>&1",
  "./job &> log",
  "echo 'a & b'",
  'echo "a" \\& b',
  "a && b || c",
  "ssh web sh -c './server &'",
  "docker exec app sh -c './server &'",
  "start-stop-daemon --stop --pidfile x",
  "ssh -F config -o ForwardAgent=no host job",
])("%s leaves nothing", (text) => {
  expect(findBackgroundInText(text)).toBeUndefined();
});

it("finds it in words too", () => {
  expect(findBackgroundProcess(["sh", "-c", "./server &"])).toMatchObject({ what: "./server &" });
  expect(findBackgroundProcess(["nice", "setsid", "./server"])).toMatchObject({ what: "what setsid starts" });
  expect(findBackgroundProcess(["./server", "&"])).toBeUndefined();
});
