import { bodyLimits, unpackedLimit } from '../../../src/doors/http/capture/handler.ts'
import type { As, HttpInput, Probe } from '../probe.ts'
import { type EncodingName, encodings } from './encodings.ts'
import { lzBomb } from './lz-bomb.ts'
import { fill, perEventShapes, type Shape, shapes } from './shapes.ts'

// Every path of client libraries with every encoding and every shape of body.

const megabyte = 1024 * 1024
const kilobyte = 1024
const unpackedMost = unpackedLimit - kilobyte

interface Path {
  readonly most: number
  readonly as: As
  readonly shapes: Readonly<Record<string, Shape>>
}
/** Paths that take the project's key as bearer and answer for each event. */
const perEventPath = '/i/v1/analytics/events'
/** Paths where clients ask for flags; their limit is that of the others. */
const askingPaths = ['/flags', '/decide']

const pathOf = (most: number, path: string): Path =>
  path === perEventPath ? { most, as: 'token', shapes: { ...perEventShapes, ...shapes } } : { most, as: 'nobody', shapes }
export const paths: Readonly<Record<string, Path>> = Object.fromEntries([
  ...Object.entries(bodyLimits).map(([path, most]) => [path === perEventPath ? path : `${path}/`, pathOf(most, path)]),
  ...askingPaths.map((path) => [`${path}/`, pathOf(2 * megabyte, path)]),
])

export const captureName = (path: string, encoding: EncodingName, shape: string) => `capture ${path} ${encoding}: ${shape}`

export function captureProbe(path: string, encoding: EncodingName, shapeName: string): Probe {
  const { most, as, shapes } = paths[path]!
  const { encode, times, most: mostToEncode } = encodings[encoding]
  const room = Math.min(unpackedMost, mostToEncode ?? unpackedMost, times === null ? unpackedMost : Math.floor((most - kilobyte) / times))
  const make = (size: number): HttpInput => {
    const text = shapes[shapeName]!(size)
    const { body, headers, query } = encode(text)
    return { to: 'server', method: 'POST', path: query ? `${path}?${query}` : path, headers, body, bytes: text.length, as }
  }
  return { name: captureName(path, encoding, shapeName), door: 'capture', grows: 'input', from: 4 * kilobyte, most: room, make }
}

export function captureNamed(name: string): Probe | null {
  const [, path = '', encoding = '', shape = ''] = /^capture (\/\S*) ([^:]+): (.*)$/.exec(name) ?? []
  const isKnown = path in paths && encoding in encodings && shape in (paths[path]?.shapes ?? {})
  return isKnown ? captureProbe(path, encoding as EncodingName, shape) : (bombs.find((one) => one.name === name) ?? null)
}

/** All of them: each shape once, the plainest way, before anything else. */
export function* captureProbes(draw: () => number): Generator<Probe> {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(draw() * of.length)]!
  const shuffled = <T>(of: readonly T[]): T[] =>
    of
      .map((one) => [draw(), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one)
  yield* bombs
  for (const shape of shuffled(Object.keys(perEventShapes))) yield captureProbe(perEventPath, 'plain', shape)
  for (const shape of shuffled(Object.keys(shapes))) yield captureProbe('/batch/', 'plain', shape)
  for (;;)
    for (const shape of shuffled(Object.keys(paths[perEventPath]!.shapes))) {
      const path = pick(Object.keys(paths).filter((one) => shape in paths[one]!.shapes))
      yield captureProbe(path, pick(Object.keys(encodings) as EncodingName[]), shape)
    }
}

/** Small bodies that unpack to more than anybody takes. The size is that of the packed body. */
export const bombs: readonly Probe[] = [
  bomb('lz64', 256, 320 * kilobyte, (size) => ({ body: lzBomb(size), path: '/e/?compression=lz64' })),
  bomb('lz64 in a form', 256, 320 * kilobyte, (size) => ({
    body: `data=${encodeURIComponent(lzBomb(size))}&compression=lz64`,
    path: '/e/',
  })),
  ...(['gzip', 'deflate', 'br', 'zstd'] as const).map((name) =>
    bomb(name, 64 * kilobyte, 256 * megabyte, (size) => ({ ...encodings[name].encode(fill(' ', size)), path: '/batch/' })),
  ),
  bomb('gzip in base64', 64 * kilobyte, 256 * megabyte, (size) => ({
    ...encodings['gzip in a form'].encode(fill(' ', size)),
    path: '/batch/',
  })),
]
function bomb(
  name: string,
  from: number,
  most: number,
  make: (size: number) => Pick<HttpInput, 'body' | 'path'> & Partial<HttpInput>,
): Probe {
  return {
    name: `capture bomb: ${name}`,
    door: 'capture',
    grows: 'data',
    from,
    most,
    make: (size) => ({ to: 'server', method: 'POST', headers: {}, bytes: size, as: 'nobody', ...make(size) }),
  }
}
