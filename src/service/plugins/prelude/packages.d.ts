declare module 'events/' {
  type Listener = (...args: unknown[]) => void
  /** Of the package `events`: the emitter of Node for other engines. */
  export class EventEmitter {
    on(name: string, work: Listener): this
    once(name: string, work: Listener): this
    off(name: string, work: Listener): this
    emit(name: string, ...args: unknown[]): boolean
  }
}
