import { t } from "../i18n/translate";
import { printCount } from "../model/quantity";
import type { ImportReport } from "../wire/messages";

/** An import's report in two parts: figures, and sentences that somebody should read. */
export interface ReadReport {
  rows: [string, string][];
  warnings: string[];
}

export function readReport(report: ImportReport | null): ReadReport | null {
  if (!report) return null;
  const { file } = report;
  const rows: [string, string][] = [
    ...(file
      ? ([
          [t("report.file"), t("report.file.of", { name: file.name, version: file.engineVersion })],
          [t("report.again"), t("report.again.of", { commands: printCount(file.commands), cycles: printCount(file.cycles), events: printCount(file.events) })],
          [t("report.verified"), t(file.verified ? "report.verified.yes" : "report.verified.no")],
        ] satisfies [string, string][])
      : []),
    ...(report.files ?? []).map((file): [string, string] => [file.name, `${file.format}, ${printCount(file.objects)}`]),
    ...Object.entries(report.kinds ?? {}).map(([kind, count]): [string, string] => [kind, printCount(count)]),
  ];
  const dropped = (report.dropped ?? []).map((left) =>
    t("report.dropped", {
      count: printCount(left.count),
      kind: left.kind,
      reason: left.reason,
      examples: left.examples?.length ? `(${left.examples.join(", ")}${left.count > left.examples.length ? ", …" : ""})` : "",
    }),
  );
  return { rows, warnings: [...(report.warnings ?? []), ...dropped] };
}
