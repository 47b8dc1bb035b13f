"""Where things are in the activation index: the slots of its memory and the fields of its records.

The first slots are fixed; relations, links and data indexes have slots of their own behind them.

    CONTROL      int64    where the work stands, see below
    RELATIONS    int64    a record for each relation
    COMPONENTS   int64    a record for each component: relations that depend on one another
    MEMBERSHIP   int64    the relations of each component
    LINKS        int64    a record for each link
    INDEXES      int64    a record for each data index
    PLANS        int64    a record for each plan
    STEPS        int64    the steps of all plans, STEP words each
    SCHEDULES    int64    pairs (action, what) that a tuple goes through when it comes and when it goes
    DETAILS      int64    lists of columns, registers and constants that records point into
    EXPRESSIONS  int64    arithmetic in postfix order
    REGISTERS    int64    the values of a rule's variables while a plan runs
    TUPLES       int64    the tuple that each body atom stands at
    CURSORS      int64    the steps that have further tuples to try
    NODES        int64    where in the order of keys each body atom stands
    OPERANDS     int64    the stack of arithmetic
    EMISSIONS    int64    derivations that were found and not yet counted: (relation, sign, rank, columns...)
    OUTBOX       int64    tuples that a step outside the kernels waits for: (what, relation, tuple, sign)
    INBOX        int64    the columns of tuples that come or go
    FAILURES     int64    for each rule, how many derivations say what has no value, and why the last one does

A *relation* is a table of tuples, numbered as they come, each number used again when its tuple is gone:

    ROWS       int64[n * arity]
    COUNTS     int32[n]           derivations of the tuple; in a number that is free, the next free one
    STATES     int32[n]           bits: GIVEN PRESENT QUEUED NOTED BEFORE
    HASHED     int32[2^k]         open addressing by the whole row: tuple + 1, or 0
    PENDING    int32[...]         tuples to look at: may have become present or ceased to be
    CHANGED    int32[...]         tuples noted in this batch, each once
    RANKS      int64[n]           recursive relations: when the tuple became present
    SUPPORTS   int32[n]           recursive relations: derivations from tuples of lower rank only

A *data index* has one entry for each key that a tuple of any of its members has:

    KEYS       int64[n * width]
    HEADS      int32[n * members]  the first tuple + 1 of a member, or how many tuples a counted one has
    PLACES     int32[2^k]          open addressing by key: entry + 1, or 0
    NODE_...   int64, int32        where its keys are kept in order: a skip list (key_order.py)

A *link* is a relation's membership in a data index: the semantic index. A tuple with no partner hangs in the
entry of its key all the same, where the partner will come: its waiting entry.

    ENTRIES    int32[n]           the entry that tuple hangs in, or -1 if constants keep it out
    NEXTS      int32[n]           the next tuple + 1 of the same member in that entry
    LASTS      int32[n]           the one before it + 1
"""

from __future__ import annotations

CONTROL, RELATIONS, COMPONENTS, MEMBERSHIP, LINKS, INDEXES, PLANS, STEPS, SCHEDULES, DETAILS = range(10)
EXPRESSIONS, REGISTERS, TUPLES, CURSORS, NODES, OPERANDS, EMISSIONS, OUTBOX, INBOX, FAILURES, FIXED_SLOTS = (
    range(10, 21)
)

# CONTROL
(
    COMPONENT,  # the component that is being worked on
    PHASE,  # in a recursive component: TAKING_AWAY, then PUTTING_IN
    ITEM_RELATION,  # the tuple that is coming or going, or -1
    ITEM_TUPLE,
    ITEM_SIGN,
    ITEM_AT,  # the next pair of its schedule
    ITEM_END,
    TURNED,  # whether the entry below has just become empty, or ceased to be, for a counted member
    TURNED_ENTRY,
    EMITTED,  # words of EMISSIONS that are filled
    TAKEN,  # words of EMISSIONS that are counted
    SENT,  # words of OUTBOX that are filled
    CLOCK,  # the last rank given
    DERIVED,  # tuples present in derived relations
    LIMIT,  # how many there may be
    REPORTS,  # tuples noted in relations that the user hears of
    WANTING,  # the relation or data index that has no room, or the plan that failed
    FAILURE,  # why it failed
    FAILING,  # derivations that stand now, though what they say has no value: none once all is settled
    DERIVATIONS,  # all that are counted now
    REMOVED,  # derivations that went in this batch
    LEAST_OVERTURNED,  # how many must have gone before anything is worked out anew
    INDEX_ACCESSES,
    TUPLE_ACCESSES,
    ACTIVATIONS,  # plans that found a first partner for a tuple, or needed none
    BARREN,  # of which nothing came
    CONTROL_WORDS,
) = range(27)

TAKING_AWAY, PUTTING_IN = range(2)

# RELATIONS
R_ARITY, R_BASE, R_SIZE, R_ROOM, R_FREE, R_LIVE, R_PENDING, R_CHANGED, R_COMPONENT, R_RECURSIVE = range(10)
R_DERIVED, R_REPORTED = range(10, 12)
R_COMING, R_COMING_END, R_GOING, R_GOING_END, RELATION = range(12, 17)  # its schedules: pairs from .. to

ROWS, COUNTS, STATES, HASHED, PENDING, CHANGED, RANKS, SUPPORTS = range(8)

GIVEN, PRESENT, QUEUED, NOTED, BEFORE = 1, 2, 4, 8, 16

# COMPONENTS
C_FROM, C_TO, C_RECURSIVE, COMPONENT_WORDS = range(4)

# LINKS
L_RELATION, L_INDEX, L_MEMBER, L_BASE, L_COLUMNS, L_TESTS, L_TESTS_END, L_COUNTED, LINK = range(9)
ENTRIES, NEXTS, LASTS = range(3)

# INDEXES
I_WIDTH, I_MEMBERS, I_BASE, I_SIZE, I_ROOM, I_FREE, I_ORDER, INDEX = range(8)
KEYS, HEADS, PLACES, NODE_KEYS, NODE_RIGHT, NODE_DOWN, NODE_LEFT, NODE_STATE = range(8)

# PLANS
P_RELATION, P_ATOM, P_STEPS, P_TESTS, P_TESTS_END, P_RULE, PLAN = range(7)

# SCHEDULES
JOIN, LEAVE, ACTIVATE, HANG, JOIN_COUNTED, LEAVE_COUNTED, ACTIVATE_SOME, ACTIVATE_NONE, SEND, RELEASE = range(
    10
)

# STEPS
(
    FOLLOW,  # atom, heads slot, members, member, from atom, its entries slot, nexts slot
    SEARCH,  # atom, index, member, registers of the key, nexts slot
    RANGE,  # atom, index, member, register of the bound, nexts slot, operator
    SOME,  # heads slot, members, member, from atom, its entries slot
    ASK_FOLLOWED,  # heads slot, members, member, from atom, its entries slot, how it turned, wanted
    ASK_SEARCHED,  # index, member, registers of the key, how it turned, wanted: some (1) or none (0)
    COMPUTE,  # register, expression from, to
    TEST,  # nothing, expression from, to
    LOAD,  # atom, rows slot, arity, pairs (column, register), how many, whether it is the coming tuple
    OTHER,  # atom: must not stand at the coming tuple
    EMIT,  # relation, registers, how many, pairs (atom, ranks slot), how many, what comes of a failure
) = range(11)
STEP = 8
MARK, NEEDED = 6, 7
"""In ASK_SEARCHED, COMPUTE and TEST: the bit that says it failed, and the bits of what it needs."""

# What comes of a derivation that says what has no value: an error, nothing, or the head, which else is not
AN_ERROR, NOTHING, THE_HEAD = range(3)
WHEN_FAILED = 6

# What another atom that hangs by the same link is taken to say of the entry that has just turned
AS_IT_IS, AS_HOLDING, AS_FAILING = range(3)

# Tests of constants and of equal columns, in DETAILS: (column, COLUMN or CONSTANT, what it equals)
EQUALS_COLUMN, EQUALS_CONSTANT = range(2)
TEST_WORDS = 3

# What `run` says
(
    FINISHED,
    NEEDS_ROOM_FIRST,
    NEEDS_RELATION,
    NEEDS_INDEX,
    NEEDS_EMISSIONS,
    NEEDS_OUTSIDE,
    NEEDS_NEW_START,  # so much has gone that it is sooner worked out anew
    FAILED,
    GIVES_WAY,  # nothing is needed: whoever called may look after signals, and calls again
) = range(9)
GOES_ON = -1

# Why it failed
DIVISION_BY_ZERO, NOT_A_NUMBER, TOO_MANY, NEVER_COUNTED = range(4)
