/** A bare Debian with an SSH server, in a folder: what is on a host before the reader of a page begins. */
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the page installs. It is downloaded here, because the hosts have no way to Debian's mirrors. */
const DOWNLOADED = ["cron", "etcd-client", "etcd-server", "openssl", "libstdc++6"];

/** As on any Debian; mmdebstrap installs none. */
const RECOMMENDS = "--option APT::Install-Recommends=true";

/** Installs Debian with the mirrors that this machine uses. `addresses` has the address of each host. */
export function installDebian(suite: string, folder: string, addresses: ReadonlyMap<string, string>): void {
  const download = `chroot "$1" apt-get install --quiet --yes --download-only ${RECOMMENDS} ${DOWNLOADED.join(" ")}`;
  const options = ["--quiet", "--variant=minbase", "--include=openssh-server,openssh-client"];
  const kept = "--skip=cleanup/apt/lists,cleanup/apt/cache";
  execFileSync("mmdebstrap", [...options, kept, `--customize-hook=${download}`, suite, folder], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const lines = [...addresses].map(([name, address]) => `${address} ${name}\n`);
  writeFileSync(join(folder, "etc/hosts"), `127.0.0.1 localhost\n${lines.join("")}`);
  // without it, and without systemd, packages start no services
  writeFileSync(join(folder, "usr/sbin/policy-rc.d"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  permitLogins(folder, [...addresses.keys()]);
}

/** Copies an installation: it becomes the host of this name. */
export function copyDebian(from: string, to: string, name: string): void {
  execFileSync("cp", ["-a", "--reflink=auto", from, to]);
  writeFileSync(join(to, "etc/hostname"), `${name}\n`);
}

/** Lets root log in from each host to each other. */
function permitLogins(folder: string, names: readonly string[]): void {
  const ssh = join(folder, "root/.ssh");
  mkdirSync(ssh, { mode: 0o700 });
  mkdirSync(join(folder, "run/sshd"), { recursive: true });
  execFileSync("chroot", [
    folder,
    "ssh-keygen",
    "-q",
    "-t",
    "ed25519",
    "-N",
    "",
    "-f",
    "/root/.ssh/id_ed25519",
  ]);
  cpSync(join(ssh, "id_ed25519.pub"), join(ssh, "authorized_keys"));
  const hostKey = readFileSync(join(folder, "etc/ssh/ssh_host_ed25519_key.pub"), "utf8");
  appendFileSync(join(ssh, "known_hosts"), `${names.join(",")} ${hostKey}`);
}
