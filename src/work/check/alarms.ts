import type { Finding } from "../../base/finding.ts";
import type { AnsweringMember } from "./members.ts";

/** Reports alarms and errors of the members, each once: every member lists the alarms of all. */
export function judgeAlarms(answers: readonly AnsweringMember[]): Finding[] {
  const texts = new Set(answers.flatMap(({ errors }) => errors.map((error) => error.trim())));
  const alarms = [...texts].filter((text) => !/no leader/.test(text)); // reported with the leader
  if (alarms.length === 0) return [{ kind: "alarm", check: "alarms", level: "ok", detail: "none" }];
  return alarms.map((detail) => ({
    kind: "alarm",
    check: "alarms",
    level: "failure",
    detail: explainAlarm(detail),
    remedy: suggestRemedy(detail),
  }));
}

function explainAlarm(text: string): string {
  if (text.includes("NOSPACE")) return `${text}: the database is full, nothing new can start`;
  if (text.includes("CORRUPT")) return `${text}: the members' data differ`;
  return text;
}

function suggestRemedy(text: string): string {
  if (text.includes("NOSPACE"))
    return "etcdctl compact REVISION, then etcdctl defrag on each member (or a larger --quota-backend-bytes), then etcdctl alarm disarm";
  if (text.includes("CORRUPT"))
    return "stop using it: replace the member that differs, or restore a backup, and see etcd's docs on data corruption";
  return "see: etcdctl endpoint status, etcdctl alarm list";
}
