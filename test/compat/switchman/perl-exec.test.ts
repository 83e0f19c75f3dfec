/** A command of one word, compared with Perl if it is installed. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { splitExecWords } from "../../../src/compat/switchman/options.ts";

const SHELL = ["/bin/sh", "-c"];

const CASES: [text: string, words: string[]][] = [
  ["echo", ["echo"]],
  [" echo  a\tb ", ["echo", "a", "b"]],
  ["echo a; echo b", [...SHELL, "echo a; echo b"]],
  ["echo $HOME", [...SHELL, "echo $HOME"]],
  ["echo a 2>&1", [...SHELL, "echo a 2>&1"]],
  ["A=b env", [...SHELL, "A=b env"]],
  ["exec echo a", [...SHELL, "exec echo a"]],
  ["echo 'a  b'", [...SHELL, "echo 'a  b'"]],
  ["echo a=b #", ["echo", "a=b", "#"]],
  ["echo %1 ^ ! , é", ["echo", "%1", "^", "!", ",", "é"]],
  [" ", [" "]],
  ["echo \ue001", [...SHELL, "echo \ue001"]],
  ["\ue001", ["\ue001"]],
];

test.each(CASES)("%j", (text, words) => {
  expect(splitExecWords([text])).toEqual(words);
  expect(splitExecWords([text, "a b"]), "with an argument").toEqual([text, "a b"]);
});

const hasPerl = spawnSync("perl", ["-e", "1"]).status === 0;

test.skipIf(!hasPerl).each(CASES.slice(0, -3))("%j, as Perl does it", (text, [file = "", ...args]) => {
  const env = { PATH: process.env.PATH ?? "", HOME: "/home/x y" };
  const [perl, ours] = [
    spawnSync("perl", ["-e", "exec(@ARGV)", text], { env, encoding: "utf8" }),
    spawnSync(file, args, { env, encoding: "utf8" }),
  ];
  expect(ours.stdout.replace(/^(_|PWD|SHLVL|OLDPWD)=.*\n/gm, "")).toBe(
    perl.stdout.replace(/^(_|PWD|SHLVL|OLDPWD)=.*\n/gm, ""),
  );
  expect(ours.status).toBe(perl.status);
});
