import { describe, expect, test } from "vitest";
import { lintSecrets } from "../../../src/schedule/lint-secrets.ts";

const findSecret = (command: readonly string[]) =>
  lintSecrets({ cron: "@daily", timezone: "UTC", command }).map(({ level, about, detail }) => [
    level,
    about,
    /^"(.*)" looks like a secret/.exec(detail)?.[1],
  ]);

describe("a command with", () => {
  test.each([
    ["--password=hunter2", ["dump", "--password=hunter2"], "--password=…"],
    ["a value in the next word", ["dump", "--db-password", "hunter2"], "--db-password…"],
    ["a token", ["push", "--api-key", "hunter2"], "--api-key…"],
    ["a variable in a line", ["sh", "-c", "PGPASSWORD=hunter2 pg_dump x"], "PGPASSWORD=…"],
    ["MYSQL_PWD", ["sh", "-c", "MYSQL_PWD='hunter2' mysqldump x"], "MYSQL_PWD=…"],
    ["a connection text", ["psql", "host=db user=a password=hunter2"], "password=…"],
    ["an address", ["curl", "https://ann:hunter2@example.com/"], "https://ann:…"],
    ["a header", ["curl", "-H", "Authorization: Bearer hunter2", "https://x"], "Bearer…"],
    ["mysql -p", ["mysqldump", "-u", "root", "-phunter2", "x"], "-p…"],
    ["sshpass", ["sshpass", "-p", "hunter2", "ssh", "x"], "-p…"],
    ["curl -u", ["curl", "-u", "ann:hunter2", "https://x"], "ann:…"],
  ])("%s is found, and not repeated", (_, command, shown) => {
    expect(findSecret(command)).toEqual([["warning", "command", shown]]);
    expect(JSON.stringify(lintSecrets({ cron: "@daily", timezone: "UTC", command }))).not.toContain(
      "hunter2",
    );
  });

  test.each([
    [["dump", "--password-file=/etc/dump/password"]],
    [["dump", "--password-file", "/etc/dump/password"]],
    [["sh", "-c", 'PGPASSWORD="$(cat /etc/password)" pg_dump x; dump --password "$PASSWORD"']],
    [["psql", "--no-password", "db"]],
    [["mysqldump", "--password", "--all-databases"]],
    [["tar", "-pxf", "x.tar"]],
    [["ssh", "-p", "2222", "ann@example.com"]],
    [["curl", "https://example.com:8080/@x", "-u", "ann"]],
    [["rotate-token", "--tokens", "3"]],
    [[]],
  ])("nothing of it is not: %j", (command) => {
    expect(findSecret(command)).toEqual([]);
  });
});

test("an address and the words of a hook are looked at too", () => {
  const hooks = { failure: "https://ann:hunter2@example.com/", success: ["tell", "--token=x"] };
  const found = lintSecrets({ cron: "@daily", timezone: "UTC", hooks });
  expect(found.map(({ about }) => about)).toEqual(["hook failure", "hook success"]);
});
