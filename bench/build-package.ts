import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** The package with all its programs, as it would be published: from these sources, not from whenever they were built last. */
export function buildPackage(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'build', '--', '--no-dts', '--silent'], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error('The package cannot be built: `npm run build -- --no-dts` failed.')
}
