import { destination, type Logger, pino } from 'pino';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on stdout, written before the process goes on: the last line before a crash is the one that matters. */
export function createLogger(name: string, level: LogLevel): Logger {
  return pino({ name, level, timestamp: pino.stdTimeFunctions.isoTime }, destination({ fd: 1, sync: true }));
}
