import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleSimulator, repository } from './bundle.ts'

// npm run sim:planted [-- NAME]: applies each patch to a copy of the sources, and runs seeds until one fails.

const mostSeeds = 100
export const plantedFolder = join(repository, 'test/sim/planted')
export const plantedNames = (): readonly string[] =>
  readdirSync(plantedFolder)
    .filter((name) => name.endsWith('.patch'))
    .map((name) => basename(name, '.patch'))

/** A copy of what the simulator is made of, with the patch in it. */
export function copyWith(name: string): string {
  const copy = join(repository, '.tmp', `planted-${name}`)
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(copy, { recursive: true })
  for (const part of [
    'src',
    'bench/random.ts',
    'test/sim',
    'test/harness/smaller-limits.ts',
    'test/reference',
    'package.json',
    'tsconfig.json',
  ])
    cpSync(join(repository, part), join(copy, part), { recursive: true })
  // Paths of a patch are those of the repository that it is applied in.
  execFileSync('git', ['init', '-q'], { cwd: copy })
  execFileSync('git', ['apply', join(plantedFolder, `${name}.patch`)], { cwd: copy })
  return copy
}

/** The first seed that fails, and how; null: none does. */
export async function findPlanted(name: string): Promise<{ readonly seed: number; readonly failure: string } | null> {
  const copy = copyWith(name)
  try {
    const program = await bundleSimulator(`planted-${name}/program`, copy)
    const args = [program, '--from', '1', '--to', String(mostSeeds), '--until-failure']
    const child = spawn(process.execPath, args, { cwd: repository, stdio: ['ignore', 'pipe', 'inherit'] })
    let found: { seed: number; failure: string } | null = null
    for await (const line of createInterface({ input: child.stdout })) {
      const { seed, failure } = JSON.parse(line) as { seed: number; failure: string | null }
      if (failure !== null) found = { seed, failure }
    }
    return found
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

if (process.argv[1]?.endsWith('planted.ts')) {
  const wanted = process.argv.slice(2)
  for (const name of plantedNames()) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const found = await findPlanted(name)
    console.log(`${name}: ${found ? `seed ${found.seed}: ${found.failure.slice(0, 200)}` : `not found by ${mostSeeds} seeds`}`)
    if (!found) process.exitCode = 1
  }
}
