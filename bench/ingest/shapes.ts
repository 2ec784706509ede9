import { random } from '../random.ts'

// Events of three kinds, over any number of persons. They are made one batch at a time: a hundred million would not fit into memory.

export const shapes = ['plain', 'web', 'identifying'] as const
export type Shape = (typeof shapes)[number]

const browsers = ['Chrome', 'Safari', 'Firefox', 'Edge']
const systems = ['Windows', 'Mac OS X', 'iOS', 'Android', 'Linux']
const base = Date.UTC(2026, 0, 1)
const quarterMs = 90 * 86_400_000
/** Half of the events are of this part of the persons. */
const activePart = 10
/** One visitor in so many signs up, and is somebody from then on. */
const visitsOfSignUp = 12

export interface MadeEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly properties: Readonly<Record<string, unknown>>
}

export class EventMaker {
  private readonly draw: () => number
  private made = 0

  constructor(
    private readonly shape: Shape,
    private readonly persons: number,
    private readonly total: number,
    seed = 12_345,
  ) {
    this.draw = random(seed)
  }

  batch(size: number): MadeEvent[] {
    return Array.from({ length: size }, () => this.one())
  }

  private who(): number {
    const among = this.draw() < 0.5 ? Math.max(1, this.persons / activePart) : this.persons
    return Math.floor(this.draw() * among)
  }

  private one(): MadeEvent {
    const i = this.made++
    const who = this.who()
    const timestamp = new Date(base + Math.floor((i * quarterMs) / this.total)).toISOString()
    if (this.shape === 'plain')
      return {
        event: i % 3 ? 'opened' : 'changed',
        distinct_id: `018f-${who}`,
        timestamp,
        properties: {
          plan: systems[who % 5],
          size: i % 1_000,
          is_first: i % 7 === 0,
          from: `/p/${i % 997}`,
          $lib: 'node',
          $lib_version: '4.2.0',
        },
      }
    const isSignUp = this.shape === 'identifying' && i % visitsOfSignUp === 0
    const isVisitor = this.shape === 'identifying' && (i >> 4) % 2 === 0
    return {
      event: isSignUp ? '$identify' : i % 3 ? '$pageview' : '$autocapture',
      distinct_id: isVisitor && !isSignUp ? `visitor-${who}-${i >> 20}` : `018f-${who}`,
      timestamp,
      properties: {
        $current_url: `https://example.org/p/${i % 997}`,
        $host: 'example.org',
        $pathname: `/p/${i % 997}`,
        $browser: browsers[who % 4],
        $browser_version: 120 + (who % 7),
        $os: systems[who % 5],
        $device_type: who % 3 ? 'Desktop' : 'Mobile',
        $screen_width: 1920,
        $screen_height: 1080,
        $referrer: '$direct',
        $session_id: `s${who}-${i >> 16}`,
        $lib: 'web',
        $lib_version: '1.200.0',
        $insert_id: `x${i}`,
        ...(isSignUp ? { $anon_distinct_id: `visitor-${who}-${i >> 20}`, $set: { plan: systems[who % 5] } } : {}),
      },
    }
  }
}
