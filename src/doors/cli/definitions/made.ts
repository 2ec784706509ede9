import { readFile, rename, writeFile } from 'node:fs/promises'
import { WaymarkError } from '../../../errors/errors.ts'
import { isObject } from '../../../lib/is-object.ts'

// What was made of which record, in a file: a command that was stopped goes on with the next record.

const kinds = ['actions', 'cohorts', 'feature_flags', 'insights', 'dashboards', 'annotations'] as const
export type Kind = (typeof kinds)[number]

interface State {
  readonly from: string
  readonly to: string
  readonly made: Readonly<Record<Kind, Record<string, number>>>
}

const nothing = (): Record<Kind, Record<string, number>> =>
  Object.fromEntries(kinds.map((kind) => [kind, {}])) as Record<Kind, Record<string, number>>

export class Made {
  private readonly file: string
  private readonly state: State

  private constructor(file: string, state: State) {
    this.file = file
    this.state = state
  }

  /** `from`, `to`: the projects. A file of others is refused. */
  static async in(file: string, from: string, to: string): Promise<Made> {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (text === null) return new Made(file, { from, to, made: nothing() })
    const state = parsed(text)
    if (!state) throw new WaymarkError('command-failed', { message: `${file} is no file of moved definitions.` })
    if (state.from !== from || state.to !== to)
      throw new WaymarkError('command-failed', {
        message: `${file} says what was moved from ${state.from} to ${state.to}: give another file with --state, or remove it.`,
      })
    return new Made(file, { from, to, made: { ...nothing(), ...state.made } })
  }

  find(kind: Kind, id: unknown): number | undefined {
    return this.state.made[kind][String(id)]
  }

  /** Where the records come from, and where they go. */
  get name(): string {
    return `${this.state.from} ${this.state.to}`
  }

  /** `isStored`: otherwise it is known to this run alone. */
  async add(kind: Kind, id: unknown, made: number, isStored: boolean): Promise<void> {
    this.state.made[kind][String(id)] = made
    if (!isStored) return
    await writeFile(`${this.file}.new`, `${JSON.stringify(this.state, null, 1)}\n`)
    await rename(`${this.file}.new`, this.file)
  }
}

function parsed(text: string): State | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && typeof value.from === 'string' && typeof value.to === 'string' && isObject(value.made)
      ? (value as unknown as State)
      : null
  } catch {
    return null
  }
}
