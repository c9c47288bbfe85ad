// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** How packets are written; the server's world has the same. */
export declare const Profile: Readonly<{classic: 0; pinhole: 1}>;

/** Names one entity in view; stale once it has left. */
export interface EntityId {
    index: number;
    generation: number;
}

export interface Entity extends EntityId {
    /** The game's own number for it. */
    key: bigint;
    /** Which of Client.classes. */
    classIndex: number;
}

/** An entity at the moment of the last advance(). */
export interface ShownEntity extends Entity {
    /** Millimetres. */
    x: number;
    y: number;
    z: number;
    /** Degrees, 0 <= it < 360; null when its class has no heading. With an orientation: where its +x points. */
    heading: number | null;
    /** Its orientation as a unit quaternion [x, y, z, w]; null when its class has none. */
    rotation: [number, number, number, number] | null;
}

export interface EntityEvent {
    kind: "entered" | "updated" | "left";
    entity: Entity;
    /** Names of the properties that came. */
    properties: string[];
}

export interface EntityClass {
    readonly name: string;
    readonly properties: readonly string[];
}

/** A number, several (position, vector, quaternion), a text, bytes, or a reference (null: none). */
export type PropertyValue = number | number[] | string | Uint8Array | EntityId | null;

export interface ClientOptions {
    /** The schema as text, the same as the server's. */
    schema: string;
    /** Default Profile.pinhole. */
    profile?: 0 | 1;
    /** Slots at most, 2..65,535: at least as many as the server's viewer has. Default 512. */
    slots?: number;
    /** 0 (the default): the present, extrapolated; else how far behind it, interpolated, at most 10,000. */
    delayMs?: number;
}

/** Since the client was created; docs of ph_client_stats. */
export interface Statistics {
    receivedDatagrams: number;
    receivedBytes: number;
    appliedPackets: number;
    receivedProbes: number;
    refusedDatagrams: number;
    appliedEnters: number;
    appliedLeaves: number;
    appliedUpdates: number;
    receivedKbps: number;
    /** 0..1 */
    loss: number;
    rttMs: number;
    newestSequence: number;
    newestTick: number;
    tickUs: number;
    entityCount: number;
    slotCount: number;
}

/** The module: loaded once, for any number of clients. */
export declare class Pinhole {
    private constructor();
    /** From bytes, a response, or an address. */
    static load(source: BufferSource | Response | Promise<Response> | string | URL): Promise<Pinhole>;
    /** @throws {Error} which says what is wrong with the options. */
    createClient(options: ClientOptions): Client;
    /** What the module exports, for pages with a module of their own that has more than pinhole.wasm. */
    get exports(): WebAssembly.Exports;
    /**
     * A client that an export opens: it gets the schema as bytes in the module's memory, a zero byte behind them, and
     * returns a handle, or 0. @throws {Error} which says why there is none.
     */
    openClient(schema: string, open: (place: number, size: number) => number): Client;
}

export interface Connection {
    readonly socket: WebSocket;
    /** The connection ended. A new one begins with a new client. */
    onclose: ((event: CloseEvent) => void) | null;
    close(): void;
}

export interface ConnectOptions {
    protocols?: string | string[];
    /** The clock of Client.advance(). Default performance.now(). */
    now?: () => number;
}

/** Lets a WebSocket carry the datagrams, one in each binary message, and the acks back, each at its time. */
export declare function connect(client: Client, to: string | URL | WebSocket, options?: ConnectOptions): Connection;

/** Where the numbers of an entity stand in a row of Client.rows(). */
export interface RowLayout {
    readonly index: number;
    readonly generation: number;
    readonly classIndex: number;
    readonly keyLow: number;
    readonly keyHigh: number;
    readonly x: number;
    readonly y: number;
    readonly z: number;
    readonly heading: number;
    readonly qx: number;
    readonly qy: number;
    readonly qz: number;
    readonly qw: number;
    readonly size: number;
}

/** One view of one server. Times are milliseconds as performance.now() has them, and never go back. */
export declare class Client {
    private constructor();
    /** Frees its memory. Nothing may be called afterwards. */
    close(): void;
    /** What exports of the module know it by. */
    get handle(): number;
    get classes(): readonly EntityClass[];
    /** Takes one datagram, whatever it is. @returns 0: done; else why not, as ph_result. */
    receive(datagram: Uint8Array, now: number): number;
    /** The ack that is due, or null. Send it at once. */
    takeAck(now: number): Uint8Array | null;
    /** When the next ack is due; Infinity: not before another datagram comes. */
    get ackDue(): number;
    /** What happened since it was last asked. */
    events(): Generator<EntityEvent, void, unknown>;
    /** Moves everything in view on to this moment. Once per frame. */
    advance(now: number): void;
    /** All that is in view, rowLayout.size numbers for each. Valid until the next call. */
    rows(): Float64Array;
    static get rowLayout(): RowLayout;
    entities(): ShownEntity[];
    find(key: bigint | number): ShownEntity | null;
    pose(entity: EntityId): ShownEntity | null;
    /** The same at a moment, which everything in view is moved on to. */
    poseAt(entity: EntityId, now: number): ShownEntity | null;
    /** undefined: entity or property are not there. */
    property(entity: Entity, name: string): PropertyValue | undefined;
    /** Of a smooth property, at the moment of the last advance(); undefined: there is none. */
    shown(entity: Entity, name: string): number | number[] | undefined;
    statistics(): Statistics;
}
