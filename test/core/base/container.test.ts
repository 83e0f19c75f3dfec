import { describe, expect, test } from "vitest";
import { splitWords } from "../../../fixtures/cluster/test-jobs.ts";
import { containCommand, describeContainer, findContainerFault } from "../../../src/core/base/container.ts";

const isContainer = (line: string) => describeContainer(splitWords(line), "warn", () => {}) !== undefined;
const findFault = (line: string) => findContainerFault(splitWords(line));

describe("a command that runs a container", () => {
  test.each([
    "docker run IMAGE",
    "/usr/bin/podman --log-level debug container run IMAGE",
    "nerdctl --namespace=x run IMAGE",
  ])("%s", (line) => expect(isContainer(line)).toBe(true));

  test.each([
    "docker ps",
    "docker exec web run",
    "docker compose run web",
    "./run",
    "sh -c docker",
    "docker",
  ])("not: %s", (line) => expect(isContainer(line)).toBe(false));
});

describe("what cannot be kept", () => {
  test.each([
    ["docker run -d IMAGE", "-d"],
    ["podman run --rm -itd --name x IMAGE", "-itd"],
    ["docker run --detach IMAGE", "--detach"],
    ["docker run --cgroup-parent=/x IMAGE", "--cgroup-parent=/x"],
    ["podman run --cgroups disabled IMAGE", "--cgroups"],
    ["docker run --restart always IMAGE", "--restart"],
    ["docker -H ssh://x run IMAGE", "-H"],
    ["podman --connection x run IMAGE", "--connection"],
  ])("%s", (line, option) => expect(findFault(line)).toMatch(new RegExp(`^${option}`)));

  test.each([
    "docker run -e NAME -v /a:/b --name d IMAGE date -d yesterday",
    "podman run --rm -it IMAGE sh -d",
    "docker run -p80:80 --env d IMAGE --detach",
  ])("but: %s", (line) => expect(findFault(line)).toBe(undefined));
});

test("the words are those of the caller, with what puts the container into the cgroup", () => {
  const words = containCommand(["docker", "--log-level", "a b", "run", "--rm", "IMAGE", "$x"]);
  expect(words.slice(3)).toEqual(["docker", "--rm", "IMAGE", "$x"]);
  expect(words[2]).toContain(`exec docker --log-level 'a b' run --cgroup-parent="$SIGNALBOX_CGROUP" "$@"`);
});
