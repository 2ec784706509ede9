import { createHash } from 'node:crypto'
import { random } from '../../bench/random.ts'
import { WaymarkError } from '../../src/errors/errors.ts'
import { actors } from './actors/registry.ts'
import { Exported } from './exports.ts'
import { contentsOf, differenceOf } from './judge.ts'
import { type Deed, Model } from './model.ts'
import { type Act, type Fault, Planner, type Step } from './plan.ts'
import type { Machine } from './world/builtins.ts'
import { World } from './world.ts'

export interface Result {
  readonly seed: number
  readonly hash: string
  /** What was done: a failing run can be repeated from it. */
  readonly steps: readonly Step[]
  /** In words; null: all was as the model has it. */
  readonly failure: string | null
  readonly calls: number
  readonly events: number
  /** How often answers came from where. */
  readonly met: Readonly<Record<string, number>>
}

export interface Options {
  /** Instead of what the seed would draw. */
  readonly steps?: readonly Step[]
  readonly root: string
  readonly log?: (line: string) => void
}

const start = Date.UTC(2026, 3, 1, 12)

export async function simulate(seed: number, machine: Machine, { steps, root, log }: Options): Promise<Result> {
  const { schedule } = machine
  const trace = createHash('sha256')
  const write = (line: string) => {
    trace.update(`${line}\n`)
    log?.(line)
  }
  schedule.begin(start)
  schedule.trace = write
  schedule.draw = random(seed)
  machine.random = random(seed ^ 0x5eed)
  const run = new Run(machine, new World(machine, root, seed), write)
  const done: Step[] = []
  let failure: string | null = null
  try {
    let n = 0
    const planner = new Planner(seed, () => ++n)
    const length = steps?.length ?? 24 + Math.floor(random(seed ^ 0xcafe)() * 20)
    await run.begin()
    for (let i = 0; i < length; i++) {
      const step =
        steps?.[i] ??
        planner.step(
          run.model,
          schedule.wallClock(),
          run.world.copies.some(({ number }) => number !== null),
        )
      done.push(step)
      write(`step ${i}: ${JSON.stringify(step)}`)
      await run.step(step)
    }
    await run.finish()
  } catch (error) {
    const found = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    failure = found.replaceAll(root, '') // each run has a folder of its own
    write(`failure: ${failure}`)
    if (error instanceof Error && error.stack) log?.(error.stack)
  } finally {
    await run.world.remove()
  }
  return {
    seed,
    hash: trace.digest('hex').slice(0, 16),
    steps: done,
    failure,
    calls: schedule.steps,
    events: run.model.contents.events.length,
    met: run.world.met,
  }
}

/** Not as the model has it. */
class Wrong extends Error {}

type Outcome = 'acknowledged' | 'refused' | 'unknown'

class Run {
  readonly world: World
  model = new Model()
  private readonly machine: Machine
  private readonly write: (line: string) => void
  private readonly exported: Exported
  /** Files of an export are not those of this directory any more. */
  private isRestored = false

  constructor(machine: Machine, world: World, write: (line: string) => void) {
    this.machine = machine
    this.world = world
    this.write = write
    this.exported = new Exported(world)
  }

  async begin(): Promise<void> {
    await this.world.open()
  }

  async finish(): Promise<void> {
    await this.world.close()
    await this.world.open()
    await this.judge([])
    if (!this.isRestored) await this.exported.finish(this.model)
    await this.world.close()
  }

  async step({ seed, acts, fault }: Step): Promise<void> {
    const { schedule } = this.machine
    const draw = random(seed)
    schedule.draw = draw
    if (fault?.fault === 'clock') schedule.jump(fault.ms)
    else if (fault?.fault === 'wait') await schedule.pass(fault.ms)
    else if (fault?.fault === 'restart') {
      await this.world.close()
      await this.world.open()
    } else if (fault?.fault === 'damage') {
      await this.world.close()
      this.world.damage(fault)
      await this.world.open()
    } else if (fault?.fault === 'restore') await this.restore()
    if (fault?.fault === 'full disk') this.world.files.room = fault.bytes
    const outcomes = await this.perform(acts, fault)
    this.world.files.room = null
    if (fault && 'again' in fault) await this.end(fault, draw)
    await this.judge(acts.map((act, i) => ({ act, outcome: outcomes[i]! })))
  }

  private async restore(): Promise<void> {
    if (this.world.copies.every(({ number }) => number === null)) return // in a smaller plan
    await this.world.close()
    const number = await this.world.restore()
    const { copies } = this.world
    const last = copies.findLast((copy) => copy.number !== null)
    if (!last || number < last.number!) throw new Wrong(`lost backup: copy ${last?.number} was made, but copy ${number} is the last one`)
    this.model = (number === last.number ? last : copies.at(-1)!).model
    copies.length = 0
    this.isRestored = true
    this.world.sessions.forget()
    await this.world.open()
  }

  /** Begins all of them, and goes on until they are over, or the process. */
  private async perform(acts: readonly Act[], fault: Fault | undefined): Promise<Outcome[]> {
    const { schedule } = this.machine
    const outcomes: Outcome[] = acts.map(() => 'unknown')
    let failure: unknown = null
    const known = acts.map(({ actor, act }) => actors[actor]!.leaves(act as never)).filter((deed) => deed !== null)
    let models: readonly Model[] | null = null
    const meanwhile = () => {
      models ??= [...beginningsOf(known)].map((deeds) => this.model.with(...deeds))
      return models
    }
    const all = acts.map(async ({ actor, act }, i) => {
      try {
        await actors[actor]!.perform(this.world, act as never, this.model, meanwhile)
        outcomes[i] = 'acknowledged'
      } catch (error) {
        outcomes[i] = 'refused'
        this.write(`${actor}: ${error instanceof Error ? error.message : String(error)}`)
        const isAllowed = fault?.fault === 'full disk' && error instanceof WaymarkError && refusals.includes(error.code)
        if (!isAllowed) failure ??= error
      }
    })
    const over = Promise.all(all)
    if (fault && 'again' in fault) await schedule.until(over, fault.after)
    else if (fault?.fault === 'full disk') {
      await schedule.until(over, callsOfFullDisk)
      this.world.files.room = null // what was acknowledged waits for space, and goes on
      await schedule.until(over)
    } else await schedule.until(over)
    if (failure !== null) throw failure
    return outcomes
  }

  private async end(fault: Extract<Fault, { again: unknown }>, draw: () => number): Promise<void> {
    await this.world.end(fault.fault, draw)
    await this.world.readLog()
    for (const { ending, after } of fault.again) {
      if (await this.world.open(after)) break
      await this.world.end(ending, draw)
      await this.world.readLog()
    }
    if (!this.world.isOpen) await this.world.open()
  }

  /** Compares all that is there with the model. What was not answered is there as a whole, or not at all. */
  private async judge(done: readonly { readonly act: Act; readonly outcome: Outcome }[]): Promise<void> {
    const { schedule } = this.machine
    const found = (await schedule.until(contentsOf(this.world.waymark, this.world.project)))!.value
    const known = done.flatMap(({ act, outcome }) => {
      const deed = actors[act.actor]!.leaves(act.act as never)
      return deed === null || outcome === 'refused' ? [] : [{ deed, outcome }]
    })
    let first: string | null = null
    for (const deeds of possible(known)) {
      const model = (deeds.length > 0 ? this.model.with(...deeds) : this.model).at(schedule.wallClock())
      const difference = differenceOf(found, model.contents)
      if (difference === null) {
        this.model = model
        this.write(`contents: ${createHash('sha256').update(JSON.stringify(found)).digest('hex').slice(0, 16)}`)
        const [complaint] = this.world.complaints
        if (complaint) throw new Wrong(complaint)
        if (!this.isRestored) await this.exported.judge(model)
        await this.world.sessions.judge(this.world)
        return
      }
      first ??= difference
    }
    throw new Wrong(first ?? 'nothing is possible')
  }
}

/** Of a full disk: of events, and of a copy. */
const refusals: readonly string[] = ['disk-full', 'no-space', 'command-failed']
const callsOfFullDisk = 400

/** What may have been done of acts that are under way: some of them, in any order. */
function* beginningsOf(known: readonly Deed[]): Generator<readonly Deed[]> {
  for (const [i, deed] of known.entries()) {
    yield [deed]
    for (const rest of beginningsOf(known.filter((_, j) => j !== i))) yield [deed, ...rest]
  }
}

/** What may have become of acts that were begun at once: in any order, those that were not answered or without. The most likely first. */
function* possible(known: readonly { readonly deed: Deed; readonly outcome: Outcome }[]): Generator<readonly Deed[]> {
  for (const [i, { deed }] of known.entries()) for (const rest of possible(known.filter((_, j) => j !== i))) yield [deed, ...rest]
  if (known.every(({ outcome }) => outcome === 'unknown')) yield []
}
