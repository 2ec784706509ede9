import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { agoText, dateText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'

// A dashboard on a screen that nobody touches: only its tiles, as large as the screen lets them be.

/** Again every few seconds, for times that go on. */
function useTick(everyMs: number): void {
  const [, set] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => set((before) => before + 1), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}

export function useWindowHeight(): number {
  const [height, setHeight] = useState(window.innerHeight)
  useEffect(() => {
    const follow = () => setHeight(window.innerHeight)
    window.addEventListener('resize', follow)
    return () => window.removeEventListener('resize', follow)
  }, [])
  return height
}

/** That a live dashboard lives, also while its numbers stand still: when it last had new events. */
export function LiveSign({ position }: { position: number | null }) {
  const [since, setSince] = useState<string | null>(null)
  useEffect(() => {
    if (position !== null) setSince(new Date().toISOString())
  }, [position])
  useTick(1000)
  return (
    <span class="live-sign">
      Live
      {since !== null && <span class="note">, new events {agoText(since)}</span>}
    </span>
  )
}

export function WallBar({ title, position, onLeave }: { title: string; position: number | null; onLeave: () => void }) {
  const { timezone } = useProject()
  useTick(1000)
  return (
    <footer class="wall-bar">
      <strong>{title}</strong>
      <LiveSign position={position} />
      <button type="button" class="plain" onClick={onLeave}>
        Leave full screen
      </button>
      <time>{dateText(new Date(), 'clock', timezone)}</time>
    </footer>
  )
}

/** Escape leaves it, as leaving the browser's own full screen does, which the browser may refuse. */
export function useWall(isOn: boolean, leave: () => void): void {
  useLayoutEffect(() => {
    if (!isOn) return
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && !event.defaultPrevented && leave()
    let wasFull = document.fullscreenElement !== null
    const onChange = () => {
      if (wasFull && !document.fullscreenElement) leave()
      wasFull = document.fullscreenElement !== null
    }
    document.addEventListener('keydown', onKey)
    document.addEventListener('fullscreenchange', onChange)
    return () => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('fullscreenchange', onChange)
      if (document.fullscreenElement) void document.exitFullscreen().catch(() => undefined)
    }
  }, [isOn])
}
