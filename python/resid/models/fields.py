# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The fields of config.json that change nothing in what a program of a preset computes, so that their values are not looked at.
# A field that neither stands here nor is read by a preset is an error.

from __future__ import annotations

# Where the file is from, what it is for, and how its numbers are called.
_NAMES = """
    _commit_hash _name_or_path _num_labels auto_map finetuning_task id2label is_llama_config label2id license name_or_path
    num_labels problem_type task_specific_params tokenizer_class transformers.js_config transformers_version unsloth_fixed
    unsloth_version
"""
# Which results are returned, how memory is used, and by which of several ways the same values are computed.
_RUNNING = """
    _attn_implementation _attn_implementation_autoset _attn_implementation_internal _experts_implementation
    _experts_implementation_internal attn_implementation experts_implementation chunk_size_feed_forward gradient_checkpointing
    output_attentions output_hidden_states output_past return_dict tf_legacy_loss tie_encoder_decoder tie_last_hidden_states
    torchscript use_cache use_return_dict
"""
# Training: where weights begin, and what is dropped.
_TRAINING = """
    attention_dropout attention_probs_dropout_prob attn_pdrop classifier_dropout embd_pdrop hidden_dropout_prob
    initializer_factor initializer_range layerdrop resid_pdrop summary_first_dropout
"""
# Ids that have a meaning for tokenizers and generation. A row of a table is that of the checkpoint, for padding too.
_TOKENS = "bos_token_id decoder_start_token_id eos_token_id mask_token_id pad_token_id prefix sep_token_id unk_token_id"
# What generation does with the logits, after the program.
_GENERATION = """
    assistant_confidence_threshold assistant_lookbehind bad_words_ids begin_suppress_tokens cache_implementation
    diversity_penalty do_sample early_stopping encoder_no_repeat_ngram_size encoder_repetition_penalty epsilon_cutoff eta_cutoff
    exponential_decay_length_penalty forced_bos_token_id forced_eos_token_id length_penalty max_length max_new_tokens min_length
    min_p no_repeat_ngram_size num_assistant_tokens num_assistant_tokens_schedule num_beam_groups num_beams
    num_return_sequences output_scores remove_invalid_values repetition_penalty return_dict_in_generate suppress_tokens
    target_lookbehind temperature top_k top_p typical_p
"""
_COMMON = frozenset(" ".join((_NAMES, _RUNNING, _TRAINING, _TOKENS, _GENERATION)).split())

# Of a family alone: parts of its models that no program has, such as poolers and heads; bookkeeping of old versions.
_OWN = {
    "bert": """directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type
        tie_word_embeddings""",
    # What `sliding_window_pattern` was before layer_types were written out.
    "gemma3": "is_decoder _sliding_window_pattern",
    "gpt-oss": "is_decoder output_router_logits router_aux_loss_coef",
    # resid.attention computes scores in f32 or f64, whatever the types of its operands are.
    "gpt2": """is_decoder n_ctx predict_special_tokens reorder_and_upcast_attn summary_activation summary_proj_to_labels
        summary_type summary_use_proj""",
    "hyper": "is_decoder max_sequence_length",
    # The slices of pretraining_tp are parts of the same products.
    "llama": "is_decoder max_sequence_length pretraining_tp",
    "mistral": "is_decoder",
    # Published files have the epsilon and the kind of positions of BERT, which the class does not read.
    "modernbert": """classifier_pooling cls_token_id deterministic_flash_attn embedding_dropout initializer_cutoff_factor
        layer_norm_eps mlp_dropout position_embedding_type reference_compile repad_logits_with_grad sparse_pred_ignore_index
        sparse_prediction""",
    "olmo2": "is_decoder",
    "qwen3": "is_decoder",
    "vit": "encoder_stride pooler_act pooler_output_size tie_word_embeddings vocab_size",
}
HARMLESS = {family: _COMMON | frozenset(own.split()) for family, own in _OWN.items()}

# Fields of all families that have to have one of these values; the first one is what a missing field means.
ONLY: "dict[str, tuple[object, ...]]" = {
    "add_cross_attention": (False,),
    "is_encoder_decoder": (False,),
    "per_layer_config": ({}, None),
    "pruned_heads": ({}, None),
    "use_bfloat16": (False,),
}
