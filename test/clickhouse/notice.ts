import { hasClickHouse, howToInstallClickHouse } from './chdb.ts'

/** Says once in a run what it leaves out. */
export default function notice(): void {
  if (!hasClickHouse)
    console.warn(`\n  SKIPPED: whatever compares with ClickHouse, because it is not installed. ${howToInstallClickHouse}\n`)
}
