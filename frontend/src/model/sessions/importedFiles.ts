/** Whether an import report is that of a cluster's files: manifests or a dump. The imports of session files and of generated clusters have reports, too. */
export function isClusterImport(report: { files?: readonly unknown[] } | null): boolean {
  return (report?.files?.length ?? 0) > 0;
}
