/** The recipes of docs/page.md for nginx and Caddy, with Debian's: TLS, passwords and a path of their own, in a browser. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import { MISSING_BROWSER, openBrowser, openWatchedPage } from "../../../fixtures/browser.ts";
import { holdLock } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { findFreePorts } from "../../../fixtures/etcd/ports.ts";
import { startPage } from "../../../fixtures/page.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const { test } = TestCluster.startForFile();
const PAGE = readFileSync(resolve(import.meta.dirname, "../../../docs/page.md"), "utf8");
const PASSWORD = "open sesame";

/** A proxy as docs/page.md configures it. */
interface ProxyCase {
  program: string;
  writeConfiguration(folder: string, ports: { own: number; page: string }): string[];
}

function readRecipe(heading: string) {
  const [, recipe] = new RegExp(`## ${heading}\\n[\\s\\S]*?\`\`\`\\w*\\n([\\s\\S]*?)\`\`\``).exec(PAGE) ?? [];
  if (recipe === undefined) throw new Error(`docs/page.md has no recipe for ${heading}`);
  return recipe;
}

const PROXIES: Record<string, ProxyCase> = {
  nginx: {
    program: "/usr/sbin/nginx",
    writeConfiguration(folder, { own, page }) {
      const hash = execFileSync("openssl", ["passwd", "-apr1", PASSWORD], { encoding: "utf8" });
      writeFileSync(join(folder, "htpasswd"), `ann:${hash}`);
      const recipe = readRecipe("Behind nginx")
        .replace("127.0.0.1:9465", page)
        .replace("/etc/nginx/jobs.htpasswd;", `${folder}/htpasswd;`);
      const user = process.getuid?.() === 0 ? "user root;" : "";
      writeFileSync(
        join(folder, "nginx.conf"),
        `${user} daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off;
${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
server { listen 127.0.0.1:${own} ssl http2; ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
${recipe} } }`,
      );
      return ["-c", join(folder, "nginx.conf"), "-p", folder];
    },
  },
  Caddy: {
    program: "/usr/bin/caddy",
    writeConfiguration(folder, { own, page }) {
      const hash = execFileSync("/usr/bin/caddy", ["hash-password", "--plaintext", PASSWORD], {
        encoding: "utf8",
      });
      const recipe = readRecipe("Behind Caddy")
        .replace("127.0.0.1:9465", page)
        .replace("basic_auth", "basicauth") // Debian 12 has version 2.6
        .replace(/ann \S+/, `ann ${hash.trim()}`)
        .replace("www.example.com {", `https://localhost:${own} {\ntls ${folder}/cert.pem ${folder}/key.pem`);
      writeFileSync(join(folder, "Caddyfile"), `{\nadmin off\nauto_https off\n}\n${recipe}`);
      return ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
    },
  },
};

function makeCertificate(folder: string) {
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", "key.pem", "-out", "cert.pem"];
  const key = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", ["req", ...key, ...names, ...files], { cwd: folder, stdio: "ignore" });
}

describe.skipIf(MISSING_BROWSER !== undefined)("behind a proxy", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => await browser?.close());

  for (const [name, { program, writeConfiguration }] of Object.entries(PROXIES))
    test.skipIf(!existsSync(program))(
      `${name} asks for a password, and all is below its path, live`,
      async ({ namespace }) => {
        await holdLock(namespace, "a/b c");
        const page = new URL(await startPage(namespace, ["--base-path", "/jobs"])).host;
        const [own = 0] = await findFreePorts(1);
        const folder = createTestFolder(onTestFinished);
        makeCertificate(folder);
        const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
        const proxy = spawn(program, writeConfiguration(folder, { own, page }), {
          env,
          stdio: ["ignore", "inherit", "inherit"],
        });
        onTestFinished(async () => {
          if (proxy.exitCode === null && proxy.kill()) await once(proxy, "exit");
        });
        await waitUntil("the proxy listens", () => canConnect(own));
        const url = `https://localhost:${own}/jobs/`;
        const options = { ignoreHTTPSErrors: true };
        const stranger = await openWatchedPage(browser, options);
        await expect(stranger.page.goto(url)).rejects.toThrow("ERR_INVALID_AUTH_CREDENTIALS"); // 401
        const httpCredentials = { username: "ann", password: PASSWORD };
        const { page: tab, faults } = await openWatchedPage(browser, { ...options, httpCredentials });
        expect((await tab.goto(url))?.status()).toBe(200);
        await tab.getByRole("link", { name: "Locks" }).click();
        await holdLock(namespace, "new");
        await tab.getByRole("link", { name: "new", exact: true }).waitFor();
        await tab.getByRole("link", { name: "a/b c", exact: true }).click();
        await tab.getByRole("heading", { name: "lock a/b c: held" }).waitFor();
        expect(new URL(tab.url()).pathname).toBe("/jobs/lock/a%2Fb%20c");
        expect(faults).toEqual([]);
        for (const one of [tab, stranger.page]) await one.context().close();
      },
    );
});

function canConnect(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, "127.0.0.1", () => settle(true));
    socket.on("error", () => settle(false));
    socket.on("connect", () => socket.destroy());
  });
}
