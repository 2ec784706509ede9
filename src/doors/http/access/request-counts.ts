import type { States } from '../../../lib/flow/states.ts'

// How many requests a caller has made in a window of time that ends now.

/** At most `count` requests within so many seconds. `name`: which limit it is. */
export interface RequestWindow {
  readonly name: string
  readonly caller: string
  readonly count: number
  readonly seconds: number
}

/** Before a request: how many are allowed, and the seconds until there is room for one more than now. */
export interface Room {
  readonly remaining: number
  readonly reset: number
}

export interface RequestCounts {
  /** Returns the room in each window before this request. It is counted in all of them, or in none if one is full. `now`: in milliseconds. */
  take(windows: readonly RequestWindow[], now: number): Promise<readonly Room[]>
}

const roomOf = (used: number, oldest: number, { count, seconds }: RequestWindow, now: number): Room => ({
  remaining: Math.max(0, count - used),
  reset: used === 0 ? 0 : Math.max(1, Math.ceil((oldest + seconds * 1000 - now) / 1000)),
})

/** The times of the last `count` requests. The oldest decides when the next one is allowed. */
class Times {
  private readonly times: number[] = []
  private next = 0
  constructor(readonly window: RequestWindow) {}

  room(now: number): Room {
    let used = 0
    let oldest = now
    for (const time of this.times)
      if (time > now - this.window.seconds * 1000 && time <= now) {
        used++
        if (time < oldest) oldest = time
      }
    return roomOf(used, oldest, this.window, now)
  }

  take(now: number): void {
    this.times[this.next] = now
    this.next = (this.next + 1) % this.window.count
  }
}

const mostInMemory = 10_000

/** Exact, of one process: a restart forgets them. */
export function countsInMemory(): RequestCounts {
  const known = new Map<string, Times>()
  const timesOf = (window: RequestWindow): Times => {
    const key = `${window.name} ${window.seconds} ${window.caller}`
    const found = known.get(key)
    known.delete(key)
    const times = found?.window.count === window.count ? found : new Times(window)
    known.set(key, times)
    if (known.size > mostInMemory) known.delete(known.keys().next().value!)
    return times
  }
  return {
    async take(windows, now) {
      const all = windows.map(timesOf)
      const rooms = all.map((times) => times.room(now))
      if (rooms.every(({ remaining }) => remaining > 0)) for (const times of all) times.take(now)
      return rooms
    },
  }
}

/** A window has so many slices. The oldest one counts whole, so that a window is never too short, and up to a slice too long. */
const slices = 60

/** Requests in each slice of a window, by the number of the slice since 1970. */
type Slices = readonly (readonly [slice: number, requests: number])[]
/** Of one caller, by limit and length. */
type Counted = Readonly<Record<string, Slices>>

const idOf = ({ name, seconds }: RequestWindow) => `${name} ${seconds}`
const sliceMs = ({ seconds }: RequestWindow) => (seconds * 1000) / slices

const within = (counted: Counted, window: RequestWindow, now: number): Slices => {
  const oldest = Math.floor(now / sliceMs(window)) - slices
  return (counted[idOf(window)] ?? []).filter(([slice]) => slice >= oldest)
}

const plus = (all: Slices, slice: number, by: number): Slices => {
  const before = all.find(([one]) => one === slice)?.[1] ?? 0
  return [...all.filter(([one]) => one !== slice), [slice, Math.max(0, before + by)] as const]
}

/** Of all servers together: which of them a request comes to makes no difference. */
export function countsOfServers(states: States): RequestCounts {
  /** Changes the windows of one caller by as many requests; not if there is no room for more. */
  async function add(windows: readonly RequestWindow[], by: 1 | -1, now: number): Promise<readonly Room[]> {
    let rooms: readonly Room[] = []
    await states.change(`requests ${windows[0]!.caller}`, (state) => {
      const counted = (state ?? {}) as Counted
      const found = windows.map((window) => within(counted, window, now))
      rooms = found.map((all, i) => {
        const window = windows[i]!
        const used = all.reduce((sum, [, requests]) => sum + requests, 0)
        const oldest = Math.min(...all.filter(([, requests]) => requests > 0).map(([slice]) => slice + 1)) * sliceMs(window)
        return roomOf(used, oldest, window, now)
      })
      if (by > 0 && rooms.some(({ remaining }) => remaining === 0)) return null
      const changed = windows.map((window, i) => [idOf(window), plus(found[i]!, Math.floor(now / sliceMs(window)), by)] as const)
      const keptMs = Math.max(...windows.map(({ seconds }) => seconds * 1000 * 2))
      return { state: { ...counted, ...Object.fromEntries(changed) }, keptMs }
    })
    return rooms
  }

  return {
    async take(windows, now) {
      const callers = [...new Set(windows.map(({ caller }) => caller))]
      const groups = callers.map((caller) => windows.filter((window) => window.caller === caller))
      const rooms = new Map<RequestWindow, Room>()
      const taken: (readonly RequestWindow[])[] = []
      for (const group of groups) {
        const found = await add(group, 1, now)
        for (const [i, window] of group.entries()) rooms.set(window, found[i]!)
        if (found.every(({ remaining }) => remaining > 0)) taken.push(group)
      }
      if (taken.length < groups.length) for (const group of taken) await add(group, -1, now)
      return windows.map((window) => rooms.get(window)!)
    },
  }
}
