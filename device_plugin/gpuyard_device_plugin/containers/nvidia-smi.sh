#!/bin/sh
# Stands for NVIDIA's nvidia-smi in a container with fake GPUs: it shows what the device plugin has granted, no more.
# Law: no program but the shell is needed, and no file is read. Variables say all, with fields that end with "|":
#   GPUYARD_GPU_<index>          uuid, name, memory in MiB, of it used, utilisation in %, MIG mode
#   GPUYARD_MIG_<index>_<start>  profile, uuid, memory in MiB, profile id, instance id, start:size
# GPUs are numbered anew in each container, as NVIDIA's runtime does.
set -fu
LC_ALL=C
MOST_GPUS=256 MOST_SLICES=16

gpu() {
    eval "line=\${GPUYARD_GPU_$1-}"
    [ "$line" ] || return 1
    IFS='|'
    set -- $line
    unset IFS
    uuid=$1 name=$2 total=$3 used=$4 util=$5 mode=$6
}

instance() {
    eval "line=\${GPUYARD_MIG_$1_$2-}"
    [ "$line" ] || return 1
    IFS='|'
    set -- $line
    unset IFS
    profile=$1 device_uuid=$2 size=$3 profile_id=$4 instance_id=$5 place=$6
}

# gpus TASK...: does it for each GPU.
gpus() {
    index=0 number=0
    while [ "$index" -lt "$MOST_GPUS" ]; do
        if gpu "$index"; then
            instances add_memory
            "$@"
            number=$((number + 1))
        fi
        index=$((index + 1))
    done
}

# instances TASK...: does it for each instance of the GPU at hand.
instances() {
    start=0 device=0
    while [ "$start" -lt "$MOST_SLICES" ]; do
        if instance "$index" "$start"; then
            "$@"
            device=$((device + 1))
        fi
        start=$((start + 1))
    done
}

add_memory() { used=$((used + size)); }

list_gpu() {
    echo "GPU $number: $name (UUID: $uuid)"
    instances list_instance
}

list_instance() {
    printf '  MIG %-11s Device %2d: (UUID: %s)\n' "$profile" "$device" "$device_uuid"
}

# field NAME: its value and unit, of the GPU at hand.
field() {
    unit=
    case $1 in
        index) value=$number ;;
        count) value=$count ;;
        name | gpu_name) value=$name ;;
        uuid | gpu_uuid) value=$uuid ;;
        memory.total) value=$total unit=MiB ;;
        memory.used) value=$used unit=MiB ;;
        memory.free) value=$((total - used)) unit=MiB ;;
        utilization.gpu) value=$util unit=% ;;
        mig.mode.current | mig.mode.pending) value=$mode ;;
        driver_version | timestamp | pci.bus_id | gpu_bus_id | serial | pstate | compute_mode) value='[N/A]' ;;
        utilization.memory | temperature.gpu | power.draw | power.limit | compute_cap) value='[N/A]' ;;
        *) fail "Field \"$1\" is not a valid field to query." ;;
    esac
    [ "$value" != '[N/A]' ] || unit=
}

head_line() {
    line=
    for wanted in $query; do
        case $wanted in
            memory.*) wanted="$wanted [MiB]" ;;
            utilization.*) wanted="$wanted [%]" ;;
        esac
        line="$line${line:+, }$wanted"
    done
    echo "$line"
}

value_line() {
    line=
    for wanted in $query; do
        field "$wanted"
        [ -z "$unit" ] || [ -z "$units" ] || value="$value $unit"
        line="$line${line:+, }$value"
    done
    echo "$line"
}

# query FIELDS FORMAT
query() {
    head=yes units=yes
    IFS=,
    case $2 in csv | csv,*) ;; *) fail 'Format "csv" must be given: --format=csv[,noheader][,nounits].' ;; esac
    for option in $2; do
        case $option in
            csv) ;;
            noheader) head= ;;
            nounits) units= ;;
            *) fail "\"$option\" is not a valid format option." ;;
        esac
    done
    set -- $1
    unset IFS
    query=$*
    number=0 name= uuid= total=0 used=0 util=0 mode=
    for wanted in $query; do
        field "$wanted"
    done
    [ -z "$head" ] || head_line
    gpus value_line
}

profiles() {
    gpus instances found_instance
    [ "$found" ] || fail 'No MIG-enabled devices found.' 6
    rule=+-------------------------------------------------------+
    echo "$rule"
    printf '| %-53s |\n' 'GPU instances:' 'GPU   Name             Profile  Instance   Placement'
    printf '| %-53s |\n' '                         ID       ID       Start:Size'
    echo '|=======================================================|'
    gpus instances instance_row
    echo "$rule"
}

instance_row() {
    printf '| %3d  %-16s %5d %9d       %-9s |\n' "$number" "MIG $profile" "$profile_id" "$instance_id" "$place"
}

table() {
    rule=+-----------------------------------------+-----------------------+-----------------------+
    echo "$rule"
    printf '| NVIDIA-SMI of GPUYard: no GPU is real   | %-21s | %-21s |\n' 'Driver Version: N/A' 'CUDA Version: N/A'
    echo "$rule"
    printf '| %-39s | %-21s | %-21s |\n' 'GPU  Name' '         Memory-Usage' 'GPU-Util       MIG M.'
    echo "$rule"
    gpus table_row
    echo "$rule"
}

table_row() {
    [ "$util" = '[N/A]' ] || util="$util%"
    printf '| %3d  %-34.34s | %6dMiB / %6dMiB | %8s %12s |\n' "$number" "$name" "$used" "$total" "$util" "$mode"
    instances table_instance
}

table_instance() {
    printf '|      %-34s | %6dMiB / %6dMiB | %21s |\n' "MIG $profile" "$size" "$size" ''
}

fail() {
    echo "$1"
    exit "${2:-2}"
}

one_more() { count=$((count + 1)); }
found_instance() { found=yes; }

count=0 found=
gpus one_more
[ "$count" -gt 0 ] || fail 'No devices were found' 6
wanted_fields= format=
case ${1-} in
    '') table ;;
    -L | --list-gpus) gpus list_gpu ;;
    mig)
        [ "${2-}" = -lgi ] || fail 'Of MIG only "mig -lgi" is known here.'
        profiles
        ;;
    *)
        for option in "$@"; do
            case $option in
                --query-gpu=*) wanted_fields=${option#*=} ;;
                --format=*) format=${option#*=} ;;
                *) fail "Option \"$option\" is not known here; -L, --query-gpu=, --format= and mig -lgi are." ;;
            esac
        done
        [ "$wanted_fields" ] || fail '--format goes with --query-gpu.'
        query "$wanted_fields" "$format"
        ;;
esac
